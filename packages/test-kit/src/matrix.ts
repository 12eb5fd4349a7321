/** Whether a matrix cell is in the rotation, which covers every row and every column at least once. */
export function isInRotation(row: number, column: number, rows: number, columns: number): boolean {
  return rows < columns ? column % rows === row : row % columns === column;
}

/**
 * All cases with SOTTO_LONG=1, otherwise the usual ones. Only omit a case from those if it tests the same as a usual
 * case.
 */
export const inLongRun = <T>(usual: readonly T[], others: readonly T[]): T[] => [
  ...usual,
  ...(process.env["SOTTO_LONG"] === "1" ? others : []),
];

type DeclareTest = (title: string, test: () => Promise<void>) => void;

/**
 * A group of tests for each target. By default, each attack runs on one target, in turn, so that every target gets at least
 * one. With SOTTO_LONG=1, every attack runs on every target. Tests that a group declares with `it` always run on every
 * target.
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
