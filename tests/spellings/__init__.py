"""Programs written with other spellings of the same operations; knows neither nanlint nor torch."""
