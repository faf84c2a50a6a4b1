"""`evenhand rank`: verify, recover, reweight and page."""
