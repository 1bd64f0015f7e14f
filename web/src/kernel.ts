// The page of `infold bench gemm` and the other kernels: how fast it is, and what a collective beside it costs.
import {KernelBench} from "./payload";
import {Figure} from "./figure";
import {View} from "./view";
import {barFigure} from "./bars";
import {digits, microseconds, percent, plain, size} from "./format";

function figures(k: KernelBench): Figure[] {
  const b = k.beside;
  const memory = barFigure({
    id: "memory",
    title: `Bytes that one ${k.kernel} moves alone`,
    caption: "At L2 by its loads and stores; at HBM by what L2 did not have or could not keep.",
    groups: ["L2", "HBM"],
    series: [{name: k.kernel, values: [k.l2_bytes, k.hbm_bytes]}],
    show: size,
    axis: size,
    binary: true,
    unit: "",
    colours: [k.kernel],
  });
  if (b === undefined) return [memory];
  const collective = plain(b.collective);
  const actors = Object.entries(b.actors).filter(([, use]) => use.hbm_bytes + use.l2_bytes > 0);
  return [
    barFigure({
      id: "beside",
      title: "Time alone and beside each other",
      caption: "Of one of several back to back, on the slowest GPU.",
      groups: [k.kernel, collective],
      series: [
        {name: "alone", values: [b.kernel_alone_us, b.collective_alone_us]},
        {name: "beside the other", values: [b.kernel_us, b.collective_us]},
      ],
      show: microseconds,
      axis: microseconds,
      unit: "",
      colours: ["alone", "beside the other"],
    }),
    barFigure({
      id: "actors",
      title: "Bytes that both move beside each other",
      caption: "By the kernels (compute) and by the collectives, on the first GPU, in all of the run.",
      groups: ["L2", "HBM"],
      series: actors.map(([name, use]) => ({name, values: [use.l2_bytes, use.hbm_bytes]})),
      show: size,
      axis: size,
      binary: true,
      unit: "",
      colours: actors.map(([name]) => name),
    }),
    memory,
  ];
}

const longer = (slowdown: number) => (Math.abs(slowdown) < 5e-4 ? "as long as alone" : `${percent(Math.abs(slowdown))} ${slowdown > 0 ? "longer" : "less"}`);

export function kernelView(k: KernelBench): View {
  const rate = k.flops > 0 ? `: ${digits(k.tflops)} TFLOP/s` : "";
  const alone = `A ${k.kernel} takes ${microseconds(k.time_us)} on one ${k.gpu}${rate}${k.hbm_gbps > 0 ? `, with ${digits(k.hbm_gbps)} GB/s at its memory` : ""}`;
  const b = k.beside;
  const cost = b === undefined ? "" : `; beside ${b.algo} ${plain(b.collective)} of ${size(b.bytes)} it takes ${longer(b.kernel_slowdown)}, and the collective ${longer(b.collective_slowdown)}`;
  return {
    title: `${k.kernel} on ${k.gpu}`,
    answer: `${alone}${cost}.`,
    warnings: [],
    figures: figures(k),
    facts: [
      ["kernel", `${k.kernel}, ${k.dtype}`],
      ["shape", Object.entries(k.shape).map(([name, value]) => `${name} ${value}`).join(", ")],
      ["workgroups, waves", `${k.workgroups}, ${k.waves}`],
      ["found in L2", percent(k.l2_hit)],
      ...(b === undefined ? [] : ([["beside", `${plain(b.collective)} of ${size(b.bytes)} by ${b.algo} (${b.proto}, ${b.engine}) on ${b.sms} SMs of ${b.system}`]] as [string, string][])),
    ],
  };
}
