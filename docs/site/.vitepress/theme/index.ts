import type { Theme } from "vitepress";
import DefaultTheme from "vitepress/theme-without-fonts";
import { FirstPage } from "./first-page.ts";
import MermaidDiagram from "./MermaidDiagram.vue";
import "./style.css";

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component("FirstPage", FirstPage);
    app.component("MermaidDiagram", MermaidDiagram);
  },
} satisfies Theme;
