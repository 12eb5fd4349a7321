import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { findings } from "../vocabulary.ts";

const found = (text: string, path = "a.ts") => findings(path, Buffer.from(text)).map(({ kind }) => kind);

describe("vocabulary", function () {
  slow(this, "processes start and end");
  it("names the file, the line and the word to write instead", () => {
    expect(findings("a.ts", Buffer.from("first\n  openShop();\n"))).to.deep.equal([
      { kind: "terms", text: "a.ts:2: openShop();  [write: resource server; merchant for the business]" },
    ]);
  });

  it("finds a replaced word in prose and inside names", () => {
    for (const text of ["The shops charge.", "const shopOptions = 1", "SHOP_ORDER", "bothDialects", "MOST_BYTES"])
      expect(found(text), text).to.include("terms");
  });

  it("finds a replaced word in a path", () => {
    expect(found("", "test/buyer/pay.test.ts")).to.deep.equal(["terms"]);
  });

  it("accepts words that only contain a replaced one", () => {
    expect(found("a workshop, a reagent, ALMOST_DONE, SOTTO_LONGEST_VALIDITY")).to.deep.equal([]);
  });

  it("accepts Kysely's dialects in the database package only", () => {
    const text = "export class NodeSqliteDialect implements Dialect {";
    expect(found(text, "packages/database/src/sqlite-dialect.ts")).to.deep.equal([]);
    expect(found(text)).to.deep.equal(["terms"]);
  });

  it("counts a line once, however many patterns it matches", () => {
    expect(found("whoever goes on for ever")).to.deep.equal(["prose"]);
  });

  it("does not search licences, the glossary and binary files", () => {
    expect(found("whoever runs a shop", "LICENSE")).to.deep.equal([]);
    expect(found("| merchant | shop |", "docs/glossary.md")).to.deep.equal([]);
    expect(found("\0shop", "a.bin")).to.deep.equal([]);
  });
});
