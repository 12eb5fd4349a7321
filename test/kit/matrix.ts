/** Whether a cell of a matrix is in the rotation, which covers every row and every column at least once. */
export function isInRotation(row: number, column: number, rows: number, columns: number): boolean {
  return rows < columns ? column % rows === row : row % columns === column;
}

/** All cases with SOTTO_LONG=1, the usual ones otherwise. Leave out only a case that tests the same as a usual one. */
export const inLongRun = <T>(usual: readonly T[], others: readonly T[]): T[] => [
  ...usual,
  ...(process.env["SOTTO_LONG"] === "1" ? others : []),
];

type DeclareTest = (title: string, test: () => Promise<void>) => void;

/**
 * A group of tests for each target. By default, each attack runs on one target, in turn, so that every target gets at least
 * one. With SOTTO_LONG=1, every attack runs on every target. What a group declares with `it` always runs on every target.
 */
export function describeMatrix<T>(
  title: string,
  targets: ReadonlyMap<string, T>,
  tests: (target: T, attack: DeclareTest, name: string) => void,
): void {
  for (const [row, name] of [...targets.keys()].entries())
    describe(`${title} ${name}`, function () {
      const attacks: Mocha.Test[] = [];
      tests(targets.get(name)!, (attack, test) => void attacks.push(it(attack, test)), name);
      if (process.env["SOTTO_LONG"] === "1") return;
      const isLeftOut = (test: Mocha.Test) =>
        attacks.includes(test) && !isInRotation(row, attacks.indexOf(test), targets.size, attacks.length);
      this.tests = this.tests.filter((test) => !isLeftOut(test));
    });
}
