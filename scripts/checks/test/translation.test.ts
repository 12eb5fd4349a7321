import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { translationProblems } from "../translation.ts";

const problems = (jsx: string) =>
  translationProblems(
    "a.tsx",
    `const icon = <svg />;\nexport const View = ({ a, b, list, children }: any) => (\n  ${jsx}\n);\n`,
  );

describe("text that translators replace", function () {
  slow(this, "a parser is loaded");
  for (const [what, jsx] of [
    ["a value beside text", "<p>Block {a}</p>"],
    ["a value beside an element", "<p><b />{a}</p>"],
    ["two values", "<p>{a}{b}</p>"],
    ["a conditional text beside an element", '<p><b />{a && "text"}</p>'],
    ["a choice of texts beside an element", '<p><b />{a ? "one" : "other"}</p>'],
    ["a text beside an element that comes and goes", "<p>Paid {a && <b />}</p>"],
    ["a text beside a list", "<p>Paid {list.map((each: any) => <b key={each} />)}</p>"],
    ["a text in a fragment", "<p>{a && <>Paid <b /></>}</p>"],
    ["a value in a fragment", "<p>{a && <>{b}</>}</p>"],
    ["a string in a fragment", '<p>{a && <>{" of "}<b /></>}</p>'],
    ["a list of texts", "<p>{list.map((each: any) => each.name)}</p>"],
    [
      "a list whose function may return a text",
      "<p>{list?.map((each: any) => { if (a) return each; return <b />; })}</p>",
    ],
    ["children beside an element", "<p><b />{children}</p>"],
    ["a value within an element that is translated", '<p translate="yes"><b />{a}</p>'],
  ] as const)
    it(`finds ${what}`, () => {
      expect(problems(jsx)).to.have.lengthOf(1);
    });

  for (const [what, jsx] of [
    ["a text alone", "<p>Paid</p>"],
    ["a value alone", "<p>{a}</p>"],
    ["a template alone", `<p>{\`Block \${a}\`}</p>`],
    ["a choice of texts alone", '<p>{a ? "one" : "other"}</p>'],
    ["a text beside an element that stays", "<p>Paid <b /></p>"],
    ["elements that come and go", "<p>{a && <b />}{b ? <i /> : undefined}</p>"],
    ["values in elements", "<p><span>{a}</span> <b>{b}</b></p>"],
    ["a list of elements", "<ul><b />{list?.map((each: any) => { const x = each; return <b key={x} />; })}</ul>"],
    ["a constant that is an element", "<p><b />{icon}</p>"],
    ["an element in a fragment", "<p>{a && <><b>Paid</b><i /></>}</p>"],
    ["children alone", "<p>{children}</p>"],
    ["a value that translators leave alone", '<p translate="no">{a} <b /></p>'],
    ["a value in Verbatim", "<Verbatim>{a} <b /></Verbatim>"],
    ["a comment", "<p>{/* why */}{a}</p>"],
  ] as const)
    it(`accepts ${what}`, () => {
      expect(problems(jsx)).to.deep.equal([]);
    });

  it("names the file and the line, also after other modules and after letters of several bytes", () => {
    const source = "// Ümläute\nexport const View = ({ a }: any) => (\n  <p>\n    Grüße {a}\n  </p>\n);\n";
    for (let i = 0; i < 2; i += 1)
      expect(translationProblems("b.tsx", source)).to.deep.equal([
        "b.tsx:3: an expression that may be text beside siblings: wrap it in an element",
      ]);
  });
});
