"""The web pages: what people see of campaigns, and what programs read of them."""
