import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "@sotto/keys/circuits/paths";
import { readTags } from "@sotto/keys/source/tags";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { sources } from "../kit/gadget.ts";
import { attacks } from "./all.ts";

const tags = readTags(sources);

describe("coverage of constraint groups", function () {
  slow(this, "circuits are compiled, and witnesses made");
  it("every statement that constrains belongs to a group with a reason", () => {
    const loose = [...sources].flatMap(([file, text]) => {
      const covered = tags.filter((tag) => tag.file === file);
      const code = text.replace(/\/\/.*$/gm, (comment) => " ".repeat(comment.length));
      return [...code.matchAll(/<==|==>|===/g)]
        .filter(({ index }) => !covered.some((tag) => tag.start <= index && index < tag.end))
        .map(({ index }) => `${file}:${code.slice(0, index).split("\n").length}`);
    });
    expect(loose).to.deep.equal([]);
  });

  it("no component is instantiated outside a group", () => {
    // An anonymous component that only constrains its inputs, "T(p)(a, b);", has no operator to search for.
    const loose = [...sources].flatMap(([file, text]) => {
      const covered = tags.filter((tag) => tag.file === file);
      const code = text.replace(/\/\/.*$/gm, (comment) => " ".repeat(comment.length));
      return [...code.matchAll(/^\s*[A-Z]\w*\([^;{}]*\)\s*\([^;{}]*\)\s*;/gm)]
        .map((match) => match.index + match[0].search(/\S/))
        .filter((at) => !covered.some((tag) => tag.start <= at && at < tag.end))
        .map((at) => `${file}:${code.slice(0, at).split("\n").length}`);
    });
    expect(loose).to.deep.equal([]);
  });

  it("every group has an attack, and every attack a group", () => {
    const attacked = new Set(attacks.map(({ tag }) => tag));
    const known = new Set(tags.map(({ id }) => id));
    const unattacked = [...known].filter((id) => !attacked.has(id));
    expect(unattacked, "groups without an attack in circuits/test/soundness").to.deep.equal([]);
    const unknown = [...attacked].filter((id) => !known.has(id));
    expect(unknown, "attacks on a group that no file of circuits/ has").to.deep.equal([]);
  });

  it("docs/mutation.md has a row for every group, with its file and reason, and no other", () => {
    const path = join(root, "docs", "mutation.md");
    const rows = readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => line.startsWith("| `"))
      .map((row) => row.split(" | ").slice(0, 3).join(" | "));
    const expected = tags.map(({ id, file, reason }) => `| \`${id}\` | ${file} | ${reason}`);
    const missing = expected.filter((row) => !rows.includes(row));
    expect(missing, "not in docs/mutation.md: run pnpm test:mutation with the groups' names").to.deep.equal([]);
    expect(rows, "docs/mutation.md: run pnpm test:mutation").to.deep.equal(expected);
  });
});
