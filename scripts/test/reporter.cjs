// Mocha reporter that writes each event as a JSON line to the file named by SOTTO_TEST_EVENTS (report.ts). The file
// survives a crash of the suite, and lines appear while it runs: progress is read from them and counts are never guessed.
// CommonJS, because mocha loads reporters with require, inside Hardhat too.
const { appendFileSync } = require("node:fs");

/** A test's titles, from its top-level group down. */
const fullTitle = (test) => test.titlePath().join(" > ");

function describeError(error) {
  if (!(error instanceof Error)) return String(error);
  const values =
    error.showDiff !== false && "expected" in error && "actual" in error
      ? `\nexpected ${show(error.expected)}\nactual   ${show(error.actual)}`
      : "";
  // The errors of fetch and of database drivers are meaningless without their cause.
  const { cause } = error;
  const because =
    cause === undefined ? "" : `\ncaused by ${cause}${cause?.code === undefined ? "" : ` (${cause.code})`}`;
  return `${error.stack ?? error.message}${values}${because}`;
}

function show(value) {
  const text = JSON.stringify(value, (_, inner) => (typeof inner === "bigint" ? `${inner}n` : inner));
  return (text ?? String(value)).slice(0, 500);
}

class EventReporter {
  constructor(runner) {
    const file = process.env.SOTTO_TEST_EVENTS;
    if (!file) throw new Error("set SOTTO_TEST_EVENTS to the path of the report");
    const write = (event) => appendFileSync(file, `${JSON.stringify(event)}\n`);
    const groups = new Map();
    const groupOf = (test) => {
      let suite = test.parent;
      while (suite?.parent && !suite.parent.root) suite = suite.parent;
      return suite;
    };
    const count = (test, field) => {
      const group = groupOf(test);
      if (!groups.has(group)) groups.set(group, { passed: 0, failed: 0, since: Date.now() });
      groups.get(group)[field] += 1;
    };
    runner.on("pass", (test) => {
      count(test, "passed");
      write({ event: "pass", title: fullTitle(test), ms: test.duration ?? 0 });
      console.log(`ok   ${fullTitle(test)} (${test.duration} ms)`);
    });
    runner.on("fail", (test, error) => {
      count(test, "failed");
      write({ event: "fail", title: fullTitle(test), ms: test.duration ?? 0, error: describeError(error) });
      console.log(`FAIL ${fullTitle(test)}\n${describeError(error)}`);
    });
    runner.on("suite", (suite) => groups.set(suite, { passed: 0, failed: 0, since: Date.now() }));
    runner.on("suite end", (suite) => {
      const group = groups.get(suite);
      if (!suite.parent?.root || !group || group.passed + group.failed === 0) return;
      const seconds = (Date.now() - group.since) / 1000;
      write({ event: "group", title: suite.title, passed: group.passed, failed: group.failed, seconds });
    });
    runner.on("end", () => write({ event: "end" }));
  }
}

module.exports = EventReporter;
