import { stripVTControlCharacters } from "node:util";
import { expect } from "chai";
import { columns, paint, progress, type Screen, say, screenOf, table, wrap } from "../src/terminal.ts";

const screen = (width = 120, colours = false): Screen & { readonly text: string } => {
  const parts: string[] = [];
  return {
    width,
    colours,
    write: (part) => void parts.push(part),
    get text() {
      return parts.join("");
    },
  };
};

describe("demo terminal", () => {
  it("wraps at spaces, and breaks only words that are too long", () => {
    expect(wrap("one two three", 7)).to.deep.equal(["one two", "three"]);
    expect(wrap("0123456789", 4)).to.deep.equal(["0123", "4567", "89"]);
    expect(wrap("a 0123456789", 4)).to.deep.equal(["a", "0123", "4567", "89"]);
    expect(wrap("", 4)).to.deep.equal([""]);
  });

  for (const width of [60, 80, 95])
    it(`puts three columns below each other if only ${width} characters fit`, () => {
      const text = columns(["ONE", "TWO", "THREE"], [["some words"], [], ["x".repeat(100)]], screen(width));
      expect(text).to.match(/^ONE\n- some words\nTWO\nTHREE\n- x+\n {2}x+\n(?: {2}x+\n)?$/);
      for (const line of text.split("\n")) expect(line.length).to.be.at.most(width);
    });

  for (const width of [96, 119, 120])
    it(`puts three columns side by side within ${width} characters without losing a word`, () => {
      const cells = [["some words that need more than one line", "second"], [], ["x".repeat(100), "last word"]];
      const text = columns(["ONE", "TWO", "THREE"], cells, screen(width));
      const lines = text.trimEnd().split("\n");
      for (const line of lines) expect(line.length).to.be.at.most(width);
      const column = (index: number) => lines.map((line) => line.split(" | ")[index] ?? "").join("\n");
      expect(column(0).replaceAll(/[\s-]+/g, " ")).to.contain("some words that need more than one line second");
      expect(column(2).replaceAll(/[\s-]+/g, ""))
        .to.contain("x".repeat(100))
        .and.contain("lastword");
    });

  it("wraps and indents a text", () => {
    const output = screen(60);
    say(output, "word ".repeat(30).trim());
    const lines = output.text.trimEnd().split("\n");
    expect(lines).to.have.lengthOf(3);
    for (const line of lines)
      expect(line)
        .to.match(/^ {3}word/)
        .and.have.length.of.at.most(60);
  });

  it("aligns columns and tables the same way with and without colours", () => {
    const [plain, coloured] = [screen(), screen(120, true)];
    const cells = [["a"], ["b"], ["c"]];
    const titles = ["ONE", "TWO", "THREE"];
    expect(stripVTControlCharacters(columns(titles, cells, coloured))).to.equal(columns(titles, cells, plain));
    expect(columns(titles, cells, coloured)).not.to.equal(columns(titles, cells, plain));
    const rows = (where: Screen) => [
      [paint(where, "bold", "name"), "x"],
      ["longer name", paint(where, "red", "y")],
    ];
    expect(table(rows(plain))).to.equal("name         x\nlonger name  y\n");
    expect(stripVTControlCharacters(table(rows(coloured)))).to.equal(table(rows(plain)));
  });

  it("is at most 120 characters wide, and 80 without a terminal", () => {
    const stream = (isTTY: boolean, width: number) =>
      ({ isTTY, columns: width, hasColors: () => true }) as NodeJS.WriteStream;
    expect(screenOf(stream(true, 300))).to.include({ width: 120 });
    expect(screenOf(stream(true, 20))).to.include({ width: 60 });
    expect(screenOf(stream(false, 120))).to.include({ width: 80, colours: false });
  });

  it("announces an action, and ends the line even if the action fails", async () => {
    const output = screen();
    const during: string[] = [];
    expect(await progress(output, "working", async () => during.push(output.text))).to.equal(1);
    expect(during).to.deep.equal(["   working ... "]);
    expect(output.text).to.match(/^ {3}working \.\.\. \d+\.\d s\n$/);
    const failing = progress(output, "failing", () => Promise.reject(new Error("because")));
    expect(await failing.catch((error: Error) => error.message)).to.equal("because");
    expect(output.text).to.match(/failing \.\.\. \d+\.\d s\n$/);
  });
});
