"""`signalbox serve`: the console in a browser. A web server that starts one console for each page."""
