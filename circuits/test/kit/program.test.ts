import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { changedNames, programOf, reachable, rename } from "./program.ts";

const sources = new Map([
  [
    "lib/parts.circom",
    `pragma circom 2.2.0;
/* template Old() { not here } */
function twice(n) { return 2 * n; } // } function late() {
template Leaf(n) { signal input in; in === twice(n); }
template parallel Node() { signal input in; Leaf(1)(in); }
template Unused() { Node()(1); }
`,
  ],
]);
const main = (component: string) =>
  `pragma circom 2.2.0;\ninclude "lib/parts.circom";\ncomponent main {public [in]} = ${component};`;

describe("a circuit as one program", function () {
  slow(this, "circuits are compiled, and witnesses made");
  const program = programOf(sources, main("Node()"));

  it("contains every template and function, complete and without comments", () => {
    expect([...program.definitions.keys()]).to.deep.equal(["twice", "Leaf", "Node", "Unused"]);
    expect(program.definitions.get("twice")).to.equal("function twice(n) { return 2 * n; }");
    expect(program.main).to.equal("Node()");
  });

  it("lists the templates that main uses", () => {
    expect([...reachable(program).keys()].sort()).to.deep.equal(["Leaf", "Node", "twice"]);
    expect([...reachable(programOf(sources, main("Leaf(3)"))).keys()].sort()).to.deep.equal(["Leaf", "twice"]);
  });

  it("lists changed definitions and everything that uses them", () => {
    const edited = new Map([
      ["lib/parts.circom", (sources.get("lib/parts.circom") as string).replace("in ===", "0 ===")],
    ]);
    const changed = changedNames(programOf(edited, main("Node()")), program);
    expect([...changed].sort()).to.deep.equal(["Leaf", "Node", "Unused"]);
    expect(changedNames(program, program).size).to.equal(0);
  });

  it("renames calls and definitions, but not signals", () => {
    const text = "template Leaf(n) { signal input Leafy; Leaf === LeafNode; Leaf (1)(in); }";
    expect(rename(text, (name) => (name === "Leaf" ? "Leaf__2" : name))).to.equal(
      "template Leaf__2(n) { signal input Leafy; Leaf === LeafNode; Leaf__2 (1)(in); }",
    );
  });
});
