"""The data of many messages in arrays instead of one object per message."""
