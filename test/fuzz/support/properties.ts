/** Kinds of histories over which the properties are tested: contracts of Histories.sol. */
export const HISTORIES = ["RecordedPool", "OwnHistory", "HostileToken"] as const;
export type History = (typeof HISTORIES)[number];

export interface Property {
  /** Name of the invariant, after its number. */
  readonly invariant: string;
  /** Function of Properties.sol that checks it. */
  readonly check: string;
  /** Another function for the recorded pool; null if it cannot be checked there. */
  readonly recorded?: string | null;
}

/** The properties of docs/properties.md, by number. */
export const PROPERTIES: Readonly<Record<number, Property>> = {
  1: { invariant: "solvency", check: "_solvency" },
  2: { invariant: "aNullifierIsSpentOnce", check: "_nullifiers" },
  3: { invariant: "noLeafIsLostOrReordered", check: "_order" },
  // The recorded appends fit one order of leaves only.
  4: { invariant: "anyoneCanAppend", check: "_canAppend", recorded: null },
  5: { invariant: "anOwnerCanWithdraw", check: "_canExit", recorded: "_canExitRecorded" },
  6: { invariant: "nobodyChangesWhoIsPaid", check: "_payouts" },
  7: { invariant: "aDepositMakesTheNotesAskedFor", check: "_deposits" },
  8: { invariant: "rootsAreKeptAndProved", check: "_roots" },
  9: { invariant: "nothingHappensAfterItsDeadline", check: "_deadlines" },
  10: { invariant: "onlyProvedStatementsCount", check: "_proved" },
  11: { invariant: "outcomesAreTrue", check: "_outcomes" },
  12: { invariant: "eventsTellEverything", check: "_events" },
};
