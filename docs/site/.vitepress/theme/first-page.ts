import { Content } from "vitepress";
import { VPHomeFeatures, VPHomeHero } from "vitepress/theme-without-fonts";
import { defineComponent, h } from "vue";

/** The layout of the first page: what sotto is, where to start, a picture. */
export const FirstPage = defineComponent(
  () => () =>
    h("main", { class: "first-page" }, [h(VPHomeHero), h(VPHomeFeatures), h("div", { class: "picture" }, h(Content))]),
);
