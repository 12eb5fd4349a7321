import { isInRotation } from "@sotto/test-kit/matrix";
import { expect } from "chai";

const LARGEST = 12;
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

describe("the rotation of attacks over frameworks", () => {
  for (const [what, pick] of [
    ["framework", (row: number) => row],
    ["attack", (_: number, column: number) => column],
  ] as const)
    it(`covers every ${what} for up to ${LARGEST} frameworks and ${LARGEST} attacks`, () => {
      for (let rows = 1; rows <= LARGEST; rows++)
        for (let columns = 1; columns <= LARGEST; columns++) {
          const covered = upTo(rows).flatMap((row) =>
            upTo(columns)
              .filter((column) => isInRotation(row, column, rows, columns))
              .map((column) => pick(row, column)),
          );
          const expected = what === "framework" ? rows : columns;
          expect(
            [...new Set(covered)].sort((a, b) => a - b),
            `${rows} × ${columns}`,
          ).to.deep.equal(upTo(expected));
        }
    });

  it("tests only as many pairs as the longer list has entries", () => {
    const cells = upTo(7).flatMap((row) => upTo(5).filter((column) => isInRotation(row, column, 7, 5)));
    expect(cells.length).to.equal(7);
  });
});
