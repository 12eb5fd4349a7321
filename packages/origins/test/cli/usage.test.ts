import { DeadHome } from "../../../cli-kit/test/support/run.ts";
import { BAD, BAD_OPTIONS, describeUsage } from "../../../cli-kit/test/support/usage.ts";
import { originCommands } from "../../src/cli.ts";

const KEY = `0x${"ab".repeat(20)}`;

const bad = {
  ...BAD_OPTIONS,
  key: BAD.addresses,
  mirror: BAD.urls,
  "minimum-crowd": BAD.counts,
  set: ["Clean", "-a", "a b", "a/b", "a".repeat(33)],
};

const valid = {
  "origin follow": ["http://127.0.0.1:9/clean", "--key", KEY, "--set", "clean"],
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
