"""What use has taught, for people: counts, pictures and one page of them."""

from slowwave.reports.feedback import FeedbackReport, feedback_report

__all__ = ["FeedbackReport", "feedback_report"]
