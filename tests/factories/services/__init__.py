"""Services, and the browsers and people in front of them."""
