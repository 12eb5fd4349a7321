// Exits with 1 if the Node that runs it is too old for the project. The launcher uses it to check that the PATH leads to
// the installed Node.
process.exit(Number.parseInt(process.versions.node, 10) >= 24 ? 0 : 1);
