"""A recording proxy for the chat-completions wire: any harness runs behind it, and its calls are kept."""
