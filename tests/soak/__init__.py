"""`make soak`: a live switch for an hour, under changing controllers, flaps and bad traffic."""
