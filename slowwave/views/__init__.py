"""For people: what use has taught, what evaluation cycles found; counts, pictures, and pages of them."""

from slowwave.views.feedback import FeedbackReport, feedback_report

__all__ = ["FeedbackReport", "feedback_report"]
