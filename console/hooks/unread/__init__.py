"""An agent's unread letters, as a hook finds them within its time."""
