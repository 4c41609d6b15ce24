"""Ways by which letters go to other machines and come from them; nothing here knows a mailbox."""
