import { spawnSync } from "node:child_process";
import { expect } from "chai";
import { CommandError, errorLine, parseOptions, parsePort } from "../src/command.ts";

describe("commands", () => {
  it("read options in both forms", () => {
    const options = parseOptions(["--port", "80", "--url=http://a/?b=c"], ["port", "url"]);
    expect(options).to.deep.equal({ port: "80", url: "http://a/?b=c" });
    expect(parseOptions([], ["port"])).to.deep.equal({});
  });

  for (const args of [["--prt", "80"], ["--port"], ["--port="], ["port", "80"], ["80"], ["--constructor", "1"]])
    it(`reject ${args.join(" ")}`, () => {
      expect(() => parseOptions(args, ["port"]))
        .to.throw(CommandError, "--port VALUE")
        .with.property("code", "UNKNOWN_OPTION");
    });

  it("accept ports from 1 to 65535", () => {
    for (const port of [1, 80, 65535]) expect(parsePort(String(port))).to.equal(port);
    for (const text of ["", "0", "65536", "1.5", "-1", "0x50", "8e1", " 80"])
      expect(() => parsePort(text), text)
        .to.throw(CommandError, `"${text}"`)
        .with.property("code", "INVALID_PORT");
  });

  it("show an error as one line with its code, without a stack trace", () => {
    expect(errorLine(new CommandError("INVALID_PORT", "what and why"))).to.equal("sotto: INVALID_PORT: what and why");
    expect(errorLine(new Error("no code"))).to.equal("sotto: UNEXPECTED: no code");
    expect(errorLine(new Error("first:\n\n  * second"))).to.equal("sotto: UNEXPECTED: first: * second");
    const lines = new CommandError("INVALID_PORT", "at a:1\n  here ^", { inLines: true });
    expect(errorLine(lines), "with its line breaks").to.equal("sotto: INVALID_PORT: at a:1\n  here ^");
    expect(errorLine("thrown text")).to.equal("sotto: UNEXPECTED: thrown text");
  });

  it("exit if the input of a prompt ends", () => {
    const url = JSON.stringify(new URL("../src/command.ts", import.meta.url).href);
    const program = `import { runCommand } from ${url}; await runCommand(() => new Promise(() => {}));`;
    const options = { encoding: "utf8", timeout: 300_000 } as const;
    const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], options);
    expect(stderr).to.match(/^\nsotto: INPUT_ENDED: [^\n]*\n$/);
    expect(status).to.equal(1);
  });
});
