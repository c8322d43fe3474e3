"""What people see: tables, charts and pages. Nothing here decides."""
