import { globSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { EXIT } from "@sotto/cli-kit";
import { SCRIPT_ERRORS } from "@sotto/command/error-definitions";
import { root } from "@sotto/keys/circuits/paths";
import type { ErrorTable } from "@sotto/protocol";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { CLASSES } from "../errors.ts";

const packages = join(root, "packages");
const read = (path: string): string => readFileSync(path, "utf8");
const sourcesOf = (folder: string): string[] =>
  globSync(join(packages, folder, "src", "**", "*.{ts,tsx}")).filter(
    (path) => basename(path) !== "error-definitions.ts",
  );
/** The packages whose sources the commands of the checkout run. */
const tools = readdirSync(packages).filter(
  (folder) => JSON.parse(read(join(packages, folder, "package.json"))).exports?.["./*"] === "./src/*.ts",
);
const scripts = globSync(
  [join(root, "scripts"), ...tools.map((folder) => join(packages, folder, "src"))].map((folder) =>
    join(folder, "**", "*.{ts,mjs}"),
  ),
  { exclude: (name) => name === "node_modules" },
).filter((path) => basename(path) !== "error-definitions.ts" && !path.endsWith(".test.ts"));
const words = (text: string) => new Set(text.toLowerCase().match(/\w+/g));

describe("error definitions", function () {
  slow(this, "processes start and end");
  it("are listed for every class", () => {
    const made = sourcesOf("*").flatMap((path) =>
      [...read(path).matchAll(/createErrorClass<typeof (\w+)>\("(\w+)"\)/g)].map(([, , name]) => name),
    );
    // @sotto/groth16 imports nothing of the project, so its class is its own.
    expect([...made, "Groth16Error"].sort()).to.deep.equal(CLASSES.map(({ name }) => name).sort());
  });

  it("define a code of several classes once", () => {
    for (const { name, errors } of CLASSES)
      for (const [code, definition] of Object.entries(errors))
        for (const other of CLASSES)
          if (Object.hasOwn(other.errors, code))
            expect(other.errors[code], `${code} of ${name} and ${other.name}`).to.equal(definition);
  });

  it("have a meaning that is a sentence, and a cause that says something else", () => {
    const scriptErrors: ErrorTable = SCRIPT_ERRORS;
    for (const errors of [...CLASSES.map((one) => one.errors), scriptErrors])
      for (const [code, { means, cause, http = 400 }] of Object.entries(errors)) {
        expect(code).to.match(/^[A-Z][A-Z0-9_]+$/);
        expect(means, code).to.match(/^[A-Z].*[.)`]$/);
        expect(cause, code).to.match(/^[A-Z].*\.$/);
        const other = [...words(cause)].filter((word) => !words(means).has(word));
        expect(other, `${code}: words that the meaning lacks`).to.have.length.above(3);
        expect(http, code).to.be.within(400, 503);
      }
  });

  it("have a cause and a next step, listed in docs/errors.md at their own anchor", () => {
    const document = read(join(root, "docs", "errors.md"));
    const codes = new Set([...CLASSES.flatMap(({ errors }) => Object.keys(errors)), ...Object.keys(SCRIPT_ERRORS)]);
    for (const code of codes) {
      const rows = document.split("\n").filter((line) => line.startsWith(`| <a id="${code.toLowerCase()}"></a>`));
      expect(rows, code).to.have.lengthOf(1);
      expect(rows[0], code).to.match(/^(?:\| [^|]*\w[^|]* ){3}\|/);
    }
    // For a code without a remedy of its own, the table of remedies has a row for its exit code or HTTP status.
    const steps = document
      .split("\n")
      .flatMap((line) => /^\| (exit|HTTP) (\d+) \| \w/.exec(line)?.slice(1).join(" ") ?? []);
    for (const { errors } of CLASSES)
      for (const [code, { exit, http, remedy }] of Object.entries(errors as ErrorTable)) {
        if (remedy !== undefined) continue;
        if (exit !== undefined) expect(steps, code).to.include(`exit ${EXIT[exit].code}`);
        else if (http !== undefined) expect(steps, code).to.include(`HTTP ${http}`);
      }
  });

  it("define only codes that are thrown", () => {
    for (const { folder, errors } of CLASSES) {
      // Other packages throw errors of the protocol package too.
      const text = sourcesOf(folder === "protocol" ? "*" : folder)
        .map(read)
        .join("\n");
      const dead = Object.keys(errors).filter((code) => !text.includes(`"${code}"`));
      expect(dead, folder).to.deep.equal([]);
    }
  });

  it("of the scripts are exactly the codes that scripts throw", () => {
    const texts = scripts.map(read);
    const thrown = texts.flatMap((text) =>
      [...text.matchAll(/new (?:Command|Launcher)Error\(\s*"(\w+)"/g)].map(([, code]) => code!),
    );
    expect(thrown.filter((code) => !Object.hasOwn(SCRIPT_ERRORS, code))).to.deep.equal([]);
    const dead = Object.keys(SCRIPT_ERRORS).filter(
      (code) => !texts.some((text) => new RegExp(`\\b${code}\\b`).test(text)),
    );
    expect(dead).to.deep.equal([]);
  });

  it("exist for every code that is thrown without an error class", () => {
    const defined = new Set(CLASSES.flatMap(({ errors }) => Object.keys(errors)));
    const thrown = sourcesOf("*").flatMap((path) =>
      [...read(path).matchAll(/new SottoError\(\s*"(\w+)"/g)].map(([, code]) => code!),
    );
    expect(thrown.filter((code) => !defined.has(code))).to.deep.equal([]);
  });
});
