// Times Pinocchio's tree algorithms on the trees of this folder, to compare riprap's mechanisms with. One thread.
//
//     bench arm7.txt tree36.txt …
//
// trees.py describes the files. For each of them this prints lines `name value…`: first what tells whether two programs hold
// the same model (the sample state, trace of M, kinetic energy, norms), then times in µs. A time is the minimum over
// repetitions of the mean of many calls, which go round 16 random states.

#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/multibody.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace pin = pinocchio;
using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr int n_states = 16;
constexpr int n_repetitions = 400;
constexpr double repetition_time = 2e-3; // [s]

// Joints about coordinate axes get the types that know it, as Pinocchio's own readers of robot files do.
pin::JointModel joint_model(const std::string & type, const Vector3d & axis)
{
  const bool x = axis == Vector3d::UnitX(), y = axis == Vector3d::UnitY(), z = axis == Vector3d::UnitZ();
  if (type == "revolute")
  {
    if (x) return pin::JointModelRX();
    if (y) return pin::JointModelRY();
    if (z) return pin::JointModelRZ();
    return pin::JointModelRevoluteUnaligned(axis);
  }
  if (type == "prismatic")
  {
    if (x) return pin::JointModelPX();
    if (y) return pin::JointModelPY();
    if (z) return pin::JointModelPZ();
    return pin::JointModelPrismaticUnaligned(axis);
  }
  if (type == "spherical") return pin::JointModelSpherical();
  if (type == "freeflyer") return pin::JointModelFreeFlyer();
  throw std::runtime_error("unknown type of joint: " + type);
}

pin::Model read_tree(const std::string & path)
{
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot open " + path);
  pin::Model model;
  model.gravity.linear() = Vector3d(0, 0, -9.81);
  std::string text;
  while (std::getline(file, text))
  {
    std::istringstream line(text);
    pin::JointIndex parent;
    std::string type;
    Vector3d axis, p, com;
    Matrix3d r;
    double mass, xx, yy, zz, xy, xz, yz;
    line >> parent >> type;
    for (double & x : axis) line >> x;
    for (int i = 0; i < 9; ++i) line >> r(i / 3, i % 3);
    for (double & x : p) line >> x;
    line >> mass;
    for (double & x : com) line >> x;
    line >> xx >> yy >> zz >> xy >> xz >> yz;
    if (!line) throw std::runtime_error(path + ": joint " + std::to_string(model.njoints) + ": not the fields of trees.py");
    Matrix3d inertia;
    inertia << xx, xy, xz, xy, yy, yz, xz, yz, zz;
    const auto id = model.addJoint(parent, joint_model(type, axis), pin::SE3(r, p), "joint" + std::to_string(model.njoints));
    model.appendBodyToJoint(id, pin::Inertia(mass, com, inertia));
  }
  return model;
}

// Joints of one degree of freedom at 0.1 (i+1) mod 1.5 with the index i of their velocity, the others at rest at the identity;
// v_i = 0.3 − 0.05 i.
void sample_state(const pin::Model & model, VectorXd & q, VectorXd & v)
{
  q = VectorXd::Zero(model.nq);
  v.resize(model.nv);
  for (int i = 0; i < model.nv; ++i) v[i] = 0.3 - 0.05 * i;
  for (int j = 1; j < model.njoints; ++j)
  {
    const auto & joint = model.joints[j];
    if (joint.nq() == 1)
      q[joint.idx_q()] = std::fmod(0.1 * (joint.idx_v() + 1), 1.5);
    else
      q[joint.idx_q() + joint.nq() - 1] = 1.0; // the scalar part of a quaternion (x, y, z, w) comes last
  }
}

struct States
{
  std::vector<VectorXd> q, v, tau;
};

States random_states(const pin::Model & model)
{
  std::mt19937_64 rng(1);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  std::normal_distribution<double> normal;
  States states;
  for (int s = 0; s < n_states; ++s)
  {
    VectorXd q(model.nq);
    for (int j = 1; j < model.njoints; ++j)
    {
      const auto & joint = model.joints[j];
      auto q_j = q.segment(joint.idx_q(), joint.nq());
      if (joint.nq() == 1)
        q_j[0] = 3.0 * uniform(rng);
      else
      {
        for (double & x : q_j) x = normal(rng);
        q_j.tail<4>().normalize();
      }
    }
    states.q.push_back(q);
    states.v.push_back(VectorXd::NullaryExpr(model.nv, [&] { return uniform(rng); }));
    states.tau.push_back(VectorXd::NullaryExpr(model.nv, [&] { return uniform(rng); }));
  }
  return states;
}

// Something of every result goes here, so that no call can be left out.
volatile double sink;

// Seconds a call of `f(state)`: minimum over repetitions of the mean over rounds of all states.
template<typename F>
double time_of(F f)
{
  using clock = std::chrono::steady_clock;
  const auto rounds = [&](int n) {
    const auto begin = clock::now();
    for (int round = 0; round < n; ++round)
      for (int s = 0; s < n_states; ++s) sink = f(s);
    return std::chrono::duration<double>(clock::now() - begin).count();
  };
  rounds(200);
  const int n = std::max(1, int(repetition_time / (rounds(100) / 100)));
  double best = 1e300;
  for (int i = 0; i < n_repetitions; ++i) best = std::min(best, rounds(n) / (n * n_states));
  return best;
}

void print(const char * name, const VectorXd & values)
{
  std::printf("%s", name);
  for (double x : values) std::printf(" %.17g", x);
  std::printf("\n");
}

void check(const pin::Model & model, pin::Data & data)
{
  VectorXd q, v;
  sample_state(model, q, v);
  // Pinocchio fills the upper triangle only.
  const Eigen::MatrixXd m = pin::crba(model, data, q).selfadjointView<Eigen::Upper>();
  const VectorXd nle = pin::nonLinearEffects(model, data, q, v);
  const VectorXd qdd = pin::aba(model, data, q, v, VectorXd::Zero(model.nv));
  print("sample_q", q);
  print("sample_v", v);
  std::printf("trace_M %.15g\n", m.trace());
  std::printf("norm_M %.15g\n", m.norm());
  std::printf("kinetic_energy %.15g\n", 0.5 * v.dot(m * v));
  std::printf("norm_nle %.15g\n", nle.norm());
  std::printf("norm_qdd_free %.15g\n", qdd.norm());
  // Round-off of Pinocchio itself: ABA against M and nle.
  std::printf("residual %.1e\n", (m * qdd + nle).norm() / nle.norm());
}

void bench(const pin::Model & model, pin::Data & data)
{
  const States states = random_states(model);
  const auto & [q, v, tau] = states;
  const auto line = [](const char * name, double seconds) { std::printf("%s %.4f\n", name, 1e6 * seconds); };
  const auto crba = [&](int s, pin::Convention c) { return pin::crba(model, data, q[s], c)(0, model.nv - 1); };
  const auto nle = [&](int s) { return pin::nonLinearEffects(model, data, q[s], v[s])[0]; };
  const auto aba = [&](int s, pin::Convention c) { return pin::aba(model, data, q[s], v[s], tau[s], c)[0]; };
  const auto local = pin::Convention::LOCAL, world = pin::Convention::WORLD;
  line("crba", time_of([&](int s) { return crba(s, local); }));
  line("nle", time_of(nle));
  line("crba+nle", time_of([&](int s) { return crba(s, local) + nle(s); }));
  line("aba", time_of([&](int s) { return aba(s, local); }));
  line("crba_world", time_of([&](int s) { return crba(s, world); }));
  line("aba_world", time_of([&](int s) { return aba(s, world); }));
}

int main(int argc, char ** argv)
try
{
  std::printf("pinocchio %s\n", PINOCCHIO_VERSION);
  std::printf("eigen %d.%d.%d\n", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION);
  std::printf("compiler %s\n", __VERSION__);
  for (int i = 1; i < argc; ++i)
  {
    const std::string path = argv[i];
    const pin::Model model = read_tree(path);
    pin::Data data(model);
    std::printf("\ntree %s\n", path.substr(path.find_last_of('/') + 1).c_str());
    std::printf("n_joints %d\nn_dof %d\n", model.njoints - 1, model.nv);
    check(model, data);
    std::fflush(stdout);
    bench(model, data);
  }
}
catch (const std::exception & error)
{
  std::cerr << "error: " << error.what() << "\n";
  return 1;
}
