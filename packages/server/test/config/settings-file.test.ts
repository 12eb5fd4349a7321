import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { hiddenSettings, withSettingsFile } from "../../src/config/settings-file.ts";

describe("the settings file", () => {
  const folder = mkdtempSync(join(tmpdir(), "sotto-settings-file-"));
  after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "sotto.env");
  const read = (text: string, environment: Record<string, string> = {}) => {
    writeFileSync(path, text);
    return withSettingsFile({ SOTTO_SETTINGS_FILE: path, ...environment });
  };
  const refused = (text: string): string => {
    try {
      read(text);
    } catch (error) {
      expect((error as { code?: string }).code).to.equal("INVALID_CONFIG");
      return (error as Error).message;
    }
    throw new Error("the file was accepted");
  };

  it("has a setting a line, with comments, empty lines and quotes", () => {
    const text = [
      "# limits",
      "SOTTO_RATE_LIMIT=60",
      "",
      ' SOTTO_RPC_URLS="x" ',
      "SOTTO_STORE='a=b'\r",
      'SOTTO_ORIGINS=[{"name":"a"}]',
    ];
    expect(read(text.join("\n"))).to.deep.equal({
      SOTTO_SETTINGS_FILE: path,
      SOTTO_RATE_LIMIT: "60",
      SOTTO_RPC_URLS: "x",
      SOTTO_STORE: "a=b",
      SOTTO_ORIGINS: '[{"name":"a"}]',
    });
    expect(withSettingsFile({ SOTTO_PORT: "" })).to.deep.equal({ SOTTO_PORT: "" });
  });

  it("has less precedence than the environment, whether a value is given or a file that has it", () => {
    const text = "SOTTO_STORE=sqlite:a\nSOTTO_PORT=1\nSOTTO_RELAYER_KEY_FILE=/a\nSOTTO_HOST=a";
    const environment = { SOTTO_STORE_FILE: "/b", SOTTO_PORT: "", SOTTO_RELAYER_KEY: "k", SOTTO_HOST: "a" };
    expect(read(text, environment)).to.deep.equal({
      SOTTO_SETTINGS_FILE: path,
      SOTTO_STORE_FILE: "/b",
      SOTTO_PORT: "1",
      SOTTO_RELAYER_KEY: "k",
      SOTTO_HOST: "a",
    });
    expect(hiddenSettings({ SOTTO_SETTINGS_FILE: path, ...environment })).to.deep.equal([
      "SOTTO_STORE",
      "SOTTO_RELAYER_KEY_FILE",
    ]);
  });

  it("is refused with the number of each wrong line, and without its content", () => {
    const message = refused(
      "export SOTTO_PORT=1\nSOTTO_PORT=1\nSOTTO_PORT=2\nSOTTO_SETTINGS_FILE=/x\ncanary\nPATH=canary\nsotto_port=3",
    );
    for (const part of [
      `line 1 must be NAME=VALUE`,
      "line 3 sets SOTTO_PORT again",
      "line 4 must not set SOTTO_SETTINGS_FILE itself",
      "line 5 must be NAME=VALUE",
      "line 6 must set a variable that begins with SOTTO_",
      "line 7 must be NAME=VALUE",
    ])
      expect(message).to.include(part);
    expect(message).to.not.include("line 2").and.not.include("canary");
  });

  it("is refused in a few words if it is another kind of file", () => {
    const message = refused("canary\n".repeat(30_000));
    expect(message).to.include("line 10 must be").and.include("has 29990 more wrong lines");
    expect(message).to.not.include("line 11 ").and.not.include("canary");
    expect(message.length).to.be.lessThan(4_000);
  });

  it("is refused if it is missing, too large, or no file", () => {
    expect(() => withSettingsFile({ SOTTO_SETTINGS_FILE: join(folder, "none") })).to.throw("cannot be read");
    mkdirSync(join(folder, "folder"), { recursive: true });
    expect(() => withSettingsFile({ SOTTO_SETTINGS_FILE: join(folder, "folder") })).to.throw("is not a file");
    writeFileSync(path, "");
    truncateSync(path, 256 * 1024);
    expect(() => withSettingsFile({ SOTTO_SETTINGS_FILE: path })).to.throw("line 1 must be");
    truncateSync(path, 256 * 1024 + 1);
    expect(() => withSettingsFile({ SOTTO_SETTINGS_FILE: path })).to.throw("at most 262144");
  });
});
