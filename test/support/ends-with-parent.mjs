// Loaded before a server that tests start as a process: it ends with a test run that was killed, which stops nothing.
process.once("disconnect", () => process.exit(1));
process.channel?.unref();
