"""An agent's unread messages, as a hook finds them within its time."""
