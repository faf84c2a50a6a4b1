"""The network: chat endpoints, other vendors, local models, and scripted replies."""
