-- ---- which items of a tree somebody asks for ---------------------------------------------------------------------------
-- In tshark without -V a tree is made but not shown: only fields of -Y, -e and columns count, and to add others would take most
-- of the time.
local asked = {}

do
  local has_window = gui_enabled()

  -- For the protocol of that name and its fields, by any key. Returned: a function that says of a tree what is asked for: false,
  -- nothing; true, all; else the set of fields. `visited`: that of the frame (pinfo). And one that forgets what it found.
  function asked.new(name, fields)
    local found_in = {}
    local function look(tree)
      if tree.visible then return true end
      if not tree:referenced(Dissector.get(name)) then return false end
      if has_window then return true end
      local set = {}
      for _, field in pairs(fields) do
        if tree:referenced(field) then set[field] = true end
      end
      return set
    end
    -- It stays the same during a pass of tshark; Wireshark may ask for others with each frame.
    local function by(tree, visited)
      local found = found_in[visited]
      if found == nil or has_window then
        found = look(tree)
        found_in[visited] = found
      end
      return found
    end
    return by, function() found_in = {} end
  end
end
