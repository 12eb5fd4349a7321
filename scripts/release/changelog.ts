// The checkout's CHANGELOG.md is the only changelog: all packages have the same version, so one list covers all
// changes.

/** The part of the version that a release raises, as changesets name it. */
export type Bump = "major" | "minor" | "patch";

export interface ChangelogEntry {
  readonly bump: Bump;
  /** Markdown. */
  readonly text: string;
}

const UNRELEASED = "## Unreleased";
const HEADINGS: Readonly<Record<Bump, string>> = { major: "### Changed", minor: "### Added", patch: "### Fixed" };

const bulletOf = (text: string): string => `- ${text.trim().replaceAll(/\n(?=.)/g, "\n  ")}`;

/**
 * Turns the unreleased changes into a release.
 * @param entries from changesets, added to the entries of the section
 * @param date YYYY-MM-DD
 * @throws Error if there is no section of unreleased changes
 */
export function releaseChangelog(
  changelog: string,
  version: string,
  date: string,
  entries: readonly ChangelogEntry[],
): string {
  const start = changelog.indexOf(`${UNRELEASED}\n`);
  if (start === -1) throw new Error(`CHANGELOG.md has no section "${UNRELEASED}"`);
  const next = changelog.indexOf("\n## ", start + UNRELEASED.length);
  const end = next === -1 ? changelog.length : next + 1;
  let section = changelog.slice(start + UNRELEASED.length, end).trim();
  for (const { bump, text } of entries) section = withBullet(section, HEADINGS[bump], bulletOf(text));
  const rest = changelog.slice(end);
  const released = `${UNRELEASED}\n\n## ${version} - ${date}\n\n${section}\n`;
  return `${changelog.slice(0, start)}${released}${rest === "" ? "" : `\n${rest}`}`;
}

/** Adds a bullet at the end of a heading's list; a missing heading comes last. */
function withBullet(section: string, heading: string, bullet: string): string {
  const at = `${section}\n`.indexOf(`${heading}\n`);
  if (at === -1) return `${section}\n\n${heading}\n\n${bullet}`.trim();
  const next = section.indexOf("\n### ", at);
  const end = next === -1 ? section.length : next;
  return `${section.slice(0, end).trimEnd()}\n${bullet}\n${section.slice(end)}`.trim();
}
