const PATHS = {
  copy: "M9 9h10v10H9zM5 15H4V5a1 1 0 0 1 1-1h10v1",
  check: "M5 13l4 4L19 7",
  close: "M6 6l12 12M18 6L6 18",
  send: "M4 12h15M13 6l6 6-6 6",
  receive: "M12 4v15M6 13l6 6 6-6",
  plus: "M12 5v14M5 12h14",
  out: "M12 20V5M6 11l6-6 6 6",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM20 20l-4-4",
  lock: "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3",
  save: "M12 4v11M7 11l5 5 5-5M5 20h14",
} as const;

export type IconName = keyof typeof PATHS;

/** A decorative icon: text or a label beside it says what it means. */
export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg className="icon" viewBox="0 0 24 24" fill="none" aria-hidden="true">
    <path d={PATHS[name]} stroke="currentColor" strokeWidth="2" strokeLinecap="round" strokeLinejoin="round" />
  </svg>
);
