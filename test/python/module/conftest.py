"""Hypothesis judges results here, not how long they take: the machine may be busy."""
import hypothesis

hypothesis.settings.register_profile("octavo", deadline=None)
hypothesis.settings.load_profile("octavo")
