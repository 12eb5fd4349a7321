// The questions of `npm run new` on a terminal, whose keys these tests type.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { ask } from "../src/prompt.ts";
import { TEMPLATES } from "../src/templates.ts";

const COLUMNS = 80;
const NOTHING = { template: undefined, folder: undefined };

describe("the questions of `npm run new`", () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder("prompt");
  });

  /** Types one answer after each question. @returns the result, and what the terminal shows */
  async function type(keys: readonly string[], given: Parameters<typeof ask>[1] = NOTHING) {
    const [input, output] = [new PassThrough(), new PassThrough()];
    Object.assign(output, { columns: COLUMNS });
    const left = [...keys];
    let shown = "";
    output.setEncoding("utf8").on("data", (text: string) => {
      shown += text;
      // A question is complete when readline moves the cursor behind it.
      if (/: \[\d+G$/.test(shown.replaceAll("\u001b", ""))) setImmediate(() => input.write(left.shift() ?? "\u0003"));
    });
    const result = await ask({ input, output, folder }, given);
    expect(left).to.deep.equal([]);
    return { result, shown: shown.replaceAll("\u001b", "").replaceAll(/\[\d*[A-Z]/g, "") };
  }

  it("takes a template by number or name, and suggests a folder", async () => {
    const { result, shown } = await type(["4\r", "\r"]);
    expect(result).to.deep.equal({ template: "client", folder: "my-client" });
    for (const [index, { name, what }] of TEMPLATES.entries())
      expect(shown).to.match(new RegExp(`^  ${index + 1}  ${name} +${what}$`, "m"));
    expect((await type(["browser\r", "page\r"])).result).to.deep.equal({ template: "browser", folder: "page" });
  });

  it("fits into 80 columns", async () => {
    const { shown } = await type(["client\r", "\r"]);
    for (const line of shown.split(/\r?\n/)) expect(line.length, line).to.be.at.most(COLUMNS);
  });

  it("asks only for what is missing", async () => {
    const { result, shown } = await type(["app\r"], { template: "client", folder: undefined });
    expect(result).to.deep.equal({ template: "client", folder: "app" });
    expect(shown).to.not.include("Template");
  });

  it("asks again after a typo, and for a folder that is not empty", async () => {
    mkdirSync(join(folder, "full"));
    writeFileSync(join(folder, "full", "file"), "");
    const { result, shown } = await type(["clinet\r", "8\r", "client\r", "full\r", "free\r"]);
    expect(result).to.deep.equal({ template: "client", folder: "free" });
    expect(shown).to.include('there is no template "clinet"').and.to.include('there is no template "8"');
    expect(shown).to.include("full is not an empty folder");
  });

  it("ends without a project on Ctrl-C and Ctrl-D", async () => {
    for (const keys of [["\u0003"], ["\u0004"], ["client\r", "\u0003"]])
      expect((await type(keys)).result).to.equal(undefined);
  });
});
