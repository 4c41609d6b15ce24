"""Ways by which messages go to other machines and come from them; nothing here knows a mailbox."""
