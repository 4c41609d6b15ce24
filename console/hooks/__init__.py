"""How agents hear of their mail: what runs inside their programs, its installation, and waking them."""
