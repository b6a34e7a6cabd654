"""What looks after the repository: its checks and its generators. Nothing here is packed or imported by GradStudio."""
