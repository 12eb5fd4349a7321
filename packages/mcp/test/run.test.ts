// The program's options. Nothing here reaches a wallet.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { rejection } from "@sotto/test-kit/rejection";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { run } from "../src/run.ts";

describe("sotto-mcp refuses to start", () => {
  const folder = temporaryFolder("mcp-run");
  const open = join(folder, "open");
  const short = join(folder, "short");
  before(() => {
    writeFileSync(open, "0123456789abcdef", { mode: 0o644 });
    writeFileSync(short, "0123", { mode: 0o600 });
  });
  const code = async (args: readonly string[], environment: Record<string, string> = {}) => {
    const { signal } = new AbortController();
    return (await rejection(run(["--home", folder, ...args], { environment, signal }))).code;
  };

  it("without a wallet", async () => {
    expect(await code([])).to.equal("CONFIG_MISSING");
  });

  it("with unknown options, arguments or ports", async () => {
    for (const args of [
      ["--unknown"],
      ["argument"],
      ["--home"],
      ["--http", "99999"],
      ["--http", "x"],
      ["--http", "host:"],
    ])
      expect(await code(args), args.join(" ")).to.equal("MCP_OPTION_INVALID");
  });

  it("over HTTP without a token", async () => {
    for (const place of ["0", "127.0.0.1:0", "0.0.0.0:0", "[::]:0", "192.168.1.1:0"])
      expect(await code(["--http", place]), place).to.equal("MCP_OPTION_INVALID");
    expect(await code(["--http", "0.0.0.0:0"], { SOTTO_MCP_TOKEN: "" })).to.equal("MCP_OPTION_INVALID");
  });

  it("with a token that is missing, short, or can be read by others", async () => {
    expect(await code(["--http", "0", "--token-file", join(folder, "none")])).to.equal("MCP_OPTION_INVALID");
    expect(await code(["--http", "0", "--token-file", short])).to.equal("MCP_OPTION_INVALID");
    expect(await code(["--http", "0", "--token-file", open])).to.equal("KEY_FILE_UNSAFE");
    expect(await code(["--http", "0"], { SOTTO_MCP_TOKEN: "short" })).to.equal("MCP_OPTION_INVALID");
  });
});
