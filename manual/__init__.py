"""The manual as a site: what mkdocs is told about this repository, and the checks of what it builds."""
