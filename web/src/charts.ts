// The parts of the chart library that are used. They are bundled by themselves (web/built/charts.js), so that a change of the page
// leaves that file as it is.
import {BarChart, CustomChart, LineChart, LinesChart, ScatterChart} from "echarts/charts";
import {
  AriaComponent,
  DataZoomComponent,
  GridComponent,
  LegendComponent,
  MarkAreaComponent,
  MarkLineComponent,
  TitleComponent,
  TooltipComponent,
} from "echarts/components";
import {graphic, init, use} from "echarts/core";
import {SVGRenderer} from "echarts/renderers";

use([
  AriaComponent,
  BarChart,
  CustomChart,
  DataZoomComponent,
  GridComponent,
  LegendComponent,
  LineChart,
  LinesChart,
  MarkAreaComponent,
  MarkLineComponent,
  SVGRenderer,
  ScatterChart,
  TitleComponent,
  TooltipComponent,
]);

export {init};
export const clipRect = graphic.clipRectByRect;
