import { DeadHome } from "../../../cli-kit/test/support/run.ts";
import { BAD, BAD_OPTIONS, describeUsage } from "../../../cli-kit/test/support/usage.ts";
import { prepaidCommands } from "../../src/cli.ts";

const URL = "http://127.0.0.1:9";

const bad = {
  ...BAD_OPTIONS,
  against: BAD.files,
  epochs: [...BAD.counts, "0", "13"],
  extend: BAD.files,
  from: ["x", "2026-13", "2026-1", "1999-12", "2020-01", "2999-01", "3000-01"],
  keys: BAD.files,
  "max-unspent": BAD.amounts,
  mirror: BAD.urls,
  origin: ["x", "data.example", "https://data.example/", "https://DATA.example", "ftp://data.example", "https://a b"],
  routes: BAD.files,
  schedule: BAD.files,
  schedules: BAD.files,
  store: ["x", "memory", "sqlite:", "sqlite:/nowhere/at/all"],
  signature: ["x", "0x", "0x1", "0xzz", `0x${"00".repeat(8193)}`],
  terms: BAD.files,
  units: ["x", "output", "output=", "output=-1", "output=1.5", "Output=1", "output=01"],
  values: [
    "x",
    "0",
    "3",
    "300",
    "1000.5",
    "-1000",
    "1000,1000",
    "1000,",
    "01",
    `1${"0".repeat(20)}`,
    "1,2,5,10,20,50,100,200,500,1000,2000,5000,10000",
  ],
};

const valid = {
  "prepaid buy": [`${URL}/`, "--max", "1"],
  "prepaid resume": [URL],
  "prepaid drop": [URL],
  "prepaid restore": [URL],
  "prepaid check-receipt": ["FILE"],
  "prepaid keys": ["--origin", "https://data.example", "--values", "1000", "--out", "/nowhere/at/all"],
  "prepaid terms": ["--keys", "/nowhere/at/all", "--routes", "FILE", "--out", "/nowhere/at/all"],
  "prepaid sign": ["--schedule", "FILE"],
  "prepaid audit": ["--store", "sqlite:/nowhere/at/all", "--schedules", "FILE"],
  "prepaid push": ["--schedule", "FILE"],
};

describe("usage", () => {
  let home: DeadHome;
  before(() => {
    home = new DeadHome([prepaidCommands]);
  });

  describeUsage(
    prepaidCommands.groups.flatMap(({ commands }) => commands),
    { home: () => home, bad, valid },
  );
});
