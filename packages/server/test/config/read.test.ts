import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { integer, list, text } from "../../src/config/parse.ts";
import { assertNoProblems, isWrong, readSettings, reportMissing, settingsTable } from "../../src/config/read.ts";
import { live, setting } from "../../src/config/setting.ts";

const TABLE = {
  size: live(setting("SOTTO_SIZE", integer(1, 9), "3", "how large")),
  key: setting("SOTTO_KEY", text, undefined, "what opens it", true),
} as const;

describe("settings from the environment", () => {
  it("are parsed, with fallbacks", () => {
    const { values, problems } = readSettings(TABLE, { SOTTO_KEY: "k", PATH: "/bin" });
    expect(values).to.deep.equal({ size: 3, key: "k" });
    expect(problems).to.deep.equal([]);
  });

  it("are all checked before an error is reported", () => {
    const read = readSettings(TABLE, { SOTTO_SIZE: "10", SOTTO_SIZES: "1" });
    reportMissing(TABLE, read, ["size", "key"]);
    expect(read.problems).to.deep.equal([
      'SOTTO_SIZE must be an integer from 1 to 9, got "10"',
      "SOTTO_SIZES is not a setting of this program; see docs/operations.md",
      "SOTTO_KEY is missing: what opens it",
    ]);
    expect(() => assertNoProblems(read.problems))
      .to.throw("SOTTO_KEY")
      .with.property("code", "INVALID_CONFIG");
    assertNoProblems([]);
  });

  it("have a problem only under their exact name, and an empty list is missing", () => {
    const table = { ...TABLE, keys: setting("SOTTO_KEYS", list(text), "", "what opens them") } as const;
    expect(isWrong(table.key, ["SOTTO_KEYS must be text", "a SOTTO_KEY"])).to.equal(false);
    for (const problem of ["SOTTO_KEY must be text", "SOTTO_KEY_FILE names a file that is empty"])
      expect(isWrong(table.key, ["SOTTO_SIZE must be less", problem])).to.equal(true);
    const read = readSettings(table, { SOTTO_KEYS: "," });
    read.problems.push("SOTTO_KEYS must be different");
    reportMissing(table, read, ["key", "keys"]);
    expect(read.problems).to.deep.equal(["SOTTO_KEYS must be different", "SOTTO_KEY is missing: what opens it"]);
    read.problems.length = 0;
    reportMissing(table, read, ["keys"]);
    expect(read.problems).to.deep.equal(["SOTTO_KEYS is missing: what opens them"]);
  });

  it("ignore variables of the checkout's own tools", () => {
    const names = ["SOTTO_LONG", "SOTTO_TEST_EVENTS", "SOTTO_CHROMIUM", "SOTTO_SCREENSHOT"];
    const environment = Object.fromEntries(names.map((name) => [name, "1"]));
    expect(readSettings(TABLE, environment).problems).to.deep.equal([]);
  });

  it("can be read from a file if secret", () => {
    const folder = mkdtempSync(join(tmpdir(), "sotto-settings-"));
    try {
      writeFileSync(join(folder, "key"), "from a file\n");
      expect(readSettings(TABLE, { SOTTO_KEY_FILE: join(folder, "key") }).values.key).to.equal("from a file");
      writeFileSync(join(folder, "empty"), "\n");
      expect(readSettings(TABLE, { SOTTO_KEY_FILE: join(folder, "empty"), SOTTO_KEY: "k" }).problems).to.deep.equal([
        "SOTTO_KEY_FILE names a file that is empty",
      ]);
      const { problems } = readSettings(TABLE, { SOTTO_KEY_FILE: join(folder, "none"), SOTTO_SIZE_FILE: "x" });
      expect(problems[0]).to.match(/^SOTTO_KEY_FILE /);
      expect(problems[1]).to.match(/^SOTTO_SIZE_FILE /);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("produce a table for documents", () => {
    expect(settingsTable(TABLE))
      .to.include("| `SOTTO_SIZE` | `3` | yes | how large |")
      .and.include("what opens it; secret");
  });
});
