import { DeadHome } from "../../../cli-kit/test/support/run.ts";
import { BAD, BAD_OPTIONS, describeUsage } from "../../../cli-kit/test/support/usage.ts";
import { originCommands } from "../../src/cli.ts";

const KEY = `0x${"ab".repeat(20)}`;

const bad = {
  ...BAD_OPTIONS,
  key: BAD.addresses,
  mirror: BAD.urls,
  confirmations: [...BAD.counts, "0", "1001"],
  "minimum-crowd": BAD.counts,
  set: ["Clean", "-a", "a b", "a/b", "a".repeat(33)],
  transaction: ["0x12", "hello", "ab".repeat(32), `0x${"zz".repeat(32)}`],
};

const valid = {
  "origin follow": ["http://127.0.0.1:9/clean", "--key", KEY, "--set", "clean"],
  "origin check": ["FILE", "--key", KEY, "--set", "clean"],
  "origin evidence": ["--key", KEY, "--set", "clean", "--transaction", `0x${"cd".repeat(32)}`],
  "origin unfollow": ["--key", KEY, "--set", "clean"],
};

describe("usage", () => {
  let home: DeadHome;
  before(() => {
    home = new DeadHome([originCommands]);
  });

  describeUsage(
    originCommands.groups.flatMap(({ commands }) => commands),
    { home: () => home, bad, valid },
  );
});
