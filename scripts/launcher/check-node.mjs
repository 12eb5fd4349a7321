// Exits non-zero under a Node that is too old for the project: shows whether the fetched one really is what runs.
process.exit(Number.parseInt(process.versions.node, 10) >= 24 ? 0 : 1);
