import { readTags, type Tag } from "@sotto/keys/source/tags";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import type { Attack } from "../../../circuits/test/kit/attack.ts";
import { Cheaters } from "../../../circuits/test/kit/cheaters.ts";
import { mutate } from "../mutate.ts";
import { describeTests, table, testsOf } from "../table.ts";

const sources = new Map([
  [
    "lib/gadget.circom",
    `pragma circom 2.2.0;
template Product() {
    signal input a;
    signal input b;
    signal input product;
    // [C:product.equal] the | product.
    product === a * b;

    // [C:product.again] the same once more, so that nothing is missed without it.
    a * b === product;
}
`,
  ],
]);
const tag = (id: string) => readTags(sources).find((candidate) => candidate.id === id) as Tag;
const attack = (id: string, inputs: { a: number; b: number; product: number }): Attack => ({
  tag: id,
  title: "a wrong product",
  main: 'pragma circom 2.2.0;\ninclude "lib/gadget.circom";\ncomponent main { public [a, b, product] } = Product();',
  inputs: () => inputs,
  harm: (read) => read("a") * read("b") !== read("product"),
});

describe("the mutation run", function () {
  slow(this, "circuits are compiled, and witnesses made");
  it("does not count a group without a test, or with a test that does not fail", async () => {
    const untested = await mutate(new Cheaters(sources, []), tag("product.equal"));
    expect(untested).to.include({ why: "no test names this group" });
    expect(untested.caught).to.deep.equal([]);
    const honest = await mutate(
      new Cheaters(sources, [attack("product.equal", { a: 2, b: 3, product: 6 })]),
      tag("product.equal"),
    );
    expect(honest.caught).to.deep.equal([]);
    expect(honest.why).to.contain("fails already");
  });

  it("does not count a redundant group, because no test fails without it", async () => {
    const doubled = await mutate(
      new Cheaters(sources, [attack("product.again", { a: 2, b: 3, product: 7 })]),
      tag("product.again"),
    );
    expect(doubled.caught).to.deep.equal([]);
    expect(doubled.why).to.contain("a wrong product");
  });

  it("counts the tests that fail without the group", async () => {
    const once = new Map(
      [...sources].map(([file, text]) => [file, text.replace("a * b === product;", "a * 1 === a;")]),
    );
    const caught = await mutate(
      new Cheaters(once, [attack("product.equal", { a: 2, b: 3, product: 7 })]),
      tag("product.equal"),
    );
    expect(caught.caught).to.deep.equal(["rejects a wrong product"]);
  });

  it("writes a table that it can read again, and none if a group has no test", () => {
    const tags = readTags(sources);
    const tests = new Map(tags.map(({ id }, i) => [id, describeTests(i === 0 ? ["rejects a | lie"] : ["a", "b"])]));
    const document = table(tags, tests) as string;
    expect(document).to.contain("| `product.equal` | lib/gadget.circom | the \\| product. | rejects a \\| lie |\n");
    expect(document).to.match(/so that nothing is missed without it\. \| a \(and 1 more\) \|\n$/);
    expect(testsOf(document).get("product.again")).to.equal("a (and 1 more)");
    tests.delete("product.equal");
    expect(table(tags, tests)).to.equal(undefined);
  });
});
