import { readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { readFigures, recordRun } from "../src/record/figures.ts";
import { FIGURE_PAGES, formatFigure, withFigures } from "../src/record/performance.ts";

describe("recorded figures", () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder("figures");
  });

  it("are shown whole if they are counted, and otherwise with two or three digits", () => {
    const shown = [
      [{ value: 322_901.4, unit: "gas" }, "322,901"],
      [{ value: 708, unit: "bytes" }, "708"],
      [{ value: 6.512, unit: "times" }, "6.5"],
      [{ value: 0.0314, unit: "s" }, "0.031"],
      [{ value: 56.5638, unit: "gwei" }, "57"],
      [{ value: 31_234, unit: "notes/s" }, "31,200"],
      [{ value: 203.9, unit: "ms" }, "204"],
    ] as const;
    for (const [figure, text] of shown) expect(formatFigure(figure)).to.equal(text);
  });

  it("replace the texts between their marks, with the day and the machine of the run", () => {
    const path = join(folder, "figures.json");
    recordRun("old", { "old.figure": { value: 1, unit: "s" } }, path);
    recordRun("gas", { "gas.one": { value: 1_000, unit: "gas" } }, path);
    recordRun("gas", { "gas.one": { value: 2_000, unit: "gas" } }, path);
    const runs = readFigures(path);
    expect(Object.keys(runs)).to.deep.equal(["gas", "old"]);
    const text = "<!--gas.one-->1,000<!----> gas, <!--old.figure--><!----> s (<!--run of gas-->long ago<!---->)";
    const written = withFigures(text, runs);
    expect(written).to.match(
      /^<!--gas\.one-->2,000<!----> gas, <!--old\.figure-->1<!----> s \(<!--run of gas-->\d{4}-\d\d-\d\d, \d+ cores? \(.*\), Node \d.*<!---->\)$/,
    );
    expect(withFigures(written, runs), "a second time").to.equal(written);
  });

  it("have a date wherever a page names their bench", async () => {
    for (const page of FIGURE_PAGES) {
      const { path } = await page();
      const text = readFileSync(path, "utf8");
      for (const [, bench] of text.matchAll(/`npm run bench ([a-z]+)`/g))
        expect(text, `${path} names the bench ${bench}`).to.contain(`<!--run of ${bench}-->`);
    }
  });

  it("are complete: a name that was not recorded is an error", () => {
    for (const text of ["<!--gas.two-->1<!---->", "<!--run of none-->1<!---->"])
      expect(() => withFigures(text, {})).to.throw(/which was not recorded/);
    expect(withFigures("no marks, <!-- a comment -->", {})).to.equal("no marks, <!-- a comment -->");
  });
});
