import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { eventLines, type Outcome, summaryLines } from "../output.ts";

const outcome = (values: Partial<Outcome>): Outcome => ({
  name: "toy",
  passed: 0,
  failures: [],
  cached: false,
  tests: [],
  ...values,
});

describe("the output of the test run", function () {
  slow(this, "processes start and end");
  it("prints a failed test with its reason and this project's stack frames", () => {
    const error = [
      "AssertionError: 1 is not 2",
      "    at test (some.test.ts:5:1)",
      "    at run (node_modules/x.js:1:1)",
    ];
    expect(eventLines("toy", { event: "fail", title: "group > fails", ms: 1, error: error.join("\n") })).to.equal(
      ["  FAIL toy: group > fails", "       AssertionError: 1 is not 2", "           at test (some.test.ts:5:1)"].join(
        "\n",
      ),
    );
  });

  it("prints one line for each group whose tests pass", () => {
    expect(eventLines("toy", { event: "pass", title: "group > passes", ms: 1 })).to.equal(undefined);
    const group = { event: "group", title: "group", passed: 1, failed: 0, seconds: 2 } as const;
    expect(eventLines("toy", group)).to.equal("  ok   toy: group: 1 passed (2.0 s)");
  });

  it("truncates long messages", () => {
    const error = Array(500).fill("word ".repeat(200)).join("\n");
    const lines = eventLines("toy", { event: "fail", title: "says much", ms: 1, error })!.split("\n");
    expect(lines).to.have.length.below(14);
    expect(Math.max(...lines.map((line) => line.length))).to.be.below(330);
  });

  it("ends with the failed tests and their reasons, and the totals in the last line", () => {
    const text = summaryLines([outcome({ passed: 1, failures: ["group > fails\nError: because\n    at x"] })], 12.34);
    expect(text.split("\n").slice(-5)).to.deep.equal([
      "",
      "failures:",
      "  toy: group > fails",
      "       Error: because",
      "1 passed, 1 failed",
    ]);
  });

  it("lists the ten slowest tests that ran, and counts the unchanged tasks", () => {
    const tests = Array.from({ length: 12 }, (_, index) => ({ title: `test ${index}`, ms: index * 1000 }));
    const cached = outcome({ name: "other", passed: 30, cached: true, tests: [{ title: "x", ms: 99_999 }] });
    const lines = summaryLines([outcome({ passed: 12, tests }), cached], 1).split("\n");
    expect(lines.slice(1, 3)).to.deep.equal(["slowest tests:", "    11.0 s  toy: test 11"]);
    expect(lines.filter((line) => line.includes("toy: test"))).to.have.lengthOf(10);
    expect(lines).to.include("1.0 s; 2 tasks, 1 of them unchanged since they passed; logs in .test/ of each package");
    expect(lines.at(-1)).to.equal("42 passed, 0 failed");
  });
});
