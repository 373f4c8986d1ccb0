"""Where libcst's tool looks for nanlint's codemods when it is told to: `modules: ["nanlint.libcst_tool"]` in `.libcst.codemod.yaml`.

The tool puts the name of a configured module in front of every command, so that `nanlint.codemods.AllFixes` becomes
`nanlint.libcst_tool.nanlint.codemods.AllFixes`. That module is here, and holds what `nanlint.codemods` holds.
"""
