"""The mailbox over the Model Context Protocol: tools to read and write mail, and a doorbell."""
