import { expect } from "chai";
import type { Series } from "../src/components/chart-data.ts";
import { areWhole, markOf, xRange, yRange } from "../src/components/chart-scale.ts";

const series = (kind: Series["kind"], ...values: (number | null)[]): Series[] => [
  { name: "", kind, colour: "--accent", values },
];

describe("the scales of a chart", () => {
  it("leave half a step at both ends, and half an hour around a single value", () => {
    expect(xRange([3_600, 7_200, 10_800])).to.deep.equal([1_800, 12_600]);
    expect(xRange([7_200])).to.deep.equal([5_400, 9_000]);
  });

  it("use the full height for small amounts, and start bars at 0", () => {
    expect(yRange(series("bars", 0.05, null), 0.05, 0.05)).to.deep.equal([0, 0.05 * 1.1]);
    expect(yRange(series("bars", 1, null), 1, 1)).to.deep.equal([0, 1.1]);
    expect(yRange(series("points", 100, 200), 100, 200)).to.deep.equal([90, 200 * 1.1]);
  });

  it("label counts only at whole numbers, and abbreviate amounts", () => {
    expect(areWhole(series("bars", 1, null, 2))).to.equal(true);
    expect(areWhole(series("bars", 1, 0.5))).to.equal(false);
    expect([
      markOf(0.5, true),
      markOf(0.5, false),
      markOf(0.30000000000000004, false),
      markOf(12_300, true),
    ]).to.deep.equal(["", "0.5", "0.3", "12.3K"]);
  });
});
