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
  wallet: "M4 7h15v12H4zM4 7l11-3v3M15 13h4",
  eye: "M2.5 12S6 6 12 6s9.5 6 9.5 6-3.5 6-9.5 6-9.5-6-9.5-6zM12 14.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z",
  hidden:
    "M4 4l16 16M9.5 6.4A9 9 0 0 1 12 6c6 0 9.5 6 9.5 6a17 17 0 0 1-2.7 3.3M6.2 8A17 17 0 0 0 2.5 12S6 18 12 18a9 9 0 0 0 3.4-.7",
  merchant: "M4 10v9h16v-9M3 10l2-5h14l2 5zM10 19v-5h4v5",
  service: "M5 5h14v6H5zM5 13h14v6H5zM8 8h.01M8 16h.01",
  chain: "M9 12a3.5 3.5 0 0 1 3.5-3.5H16a3.5 3.5 0 0 1 0 7h-1M15 12a3.5 3.5 0 0 1-3.5 3.5H8a3.5 3.5 0 0 1 0-7h1",
} as const;

export type IconName = keyof typeof PATHS;

/** A decorative icon: text or a label beside it says what it means. */
export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg className="icon" viewBox="0 0 24 24" fill="none" aria-hidden="true">
    <path d={PATHS[name]} stroke="currentColor" strokeWidth="2" strokeLinecap="round" strokeLinejoin="round" />
  </svg>
);
